"""How Sphinx builds these pages: `make docs`."""

import sys
from importlib.metadata import metadata
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
    "search",  # docs/extensions/search.py
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_sitemap",
    "sphinxext.opengraph",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "**.ipynb_checkpoints"]

default_role = "py:obj"
html_theme = "furo"
html_favicon = "static/favicon.svg"
html_title = f"deltavec {release}"
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["equations.css"]
html_copy_source = False
# The address of the site is in pyproject.toml alone.
_addresses = dict(one.split(", ") for one in metadata("deltavec").get_all("Project-URL") or [])
html_baseurl = ogp_site_url = f"{_addresses['Documentation']}/"
ogp_image = "_static/explorer.png"
ogp_social_cards = {"enable": False}
sitemap_url_scheme = "{link}"
html_show_copyright = False
html_show_sphinx = False

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

# Users never construct most classes: the template shows the constructors of those that they do.
autodoc_class_signature = "separated"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autosummary_generate = True
toc_object_entries_show_parents = "hide"
copybutton_prompt_text = ">>> "
autodoc_typehints_format = "short"
maximum_signature_line_length = 88
napoleon_google_docstring = False
napoleon_use_ivar = True  # attributes as fields: autodoc lists the same names as members
napoleon_use_rtype = False
