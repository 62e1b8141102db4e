"""How Sphinx builds these pages: `make docs`."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "deltavec"
author = "deltavec contributors"
release = version = installed_version("deltavec")

extensions = [
    "mathml",  # docs/extensions/mathml.py
    "myst_parser",
    "notebooks",  # docs/extensions/notebooks.py
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["_build", "**.ipynb_checkpoints"]

html_theme = "furo"
html_title = f"deltavec {release}"
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["equations.css"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
maximum_signature_line_length = 88
napoleon_google_docstring = False
napoleon_use_ivar = True  # attributes as fields: autodoc lists the same names as members
napoleon_use_rtype = False
