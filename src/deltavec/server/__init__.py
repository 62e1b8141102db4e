"""``deltavec serve``: the explorer page, the HTTP API, and embeddings for the OpenAI client.

Needs FastAPI and uvicorn: ``pip install 'deltavec[serve]'``. `deltavec.server.app.create_app` makes
the application; what it takes on at once is said by `deltavec.server.limits.Limits`.
"""
