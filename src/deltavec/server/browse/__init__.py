"""Browsing without a query: topics, columns, lists, selections and the colors of the map."""
