"""The HTTP server: the explorer page, the API and an OpenAI-compatible embedding service.

Needs ``pip install 'deltavec[serve]'``. `deltavec.server.app.create_app` creates the application;
`deltavec.server.limits.Limits` bounds what it accepts.
"""
