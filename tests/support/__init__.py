"""What tests share: strategies, oracles, servers, browsers and commands."""
