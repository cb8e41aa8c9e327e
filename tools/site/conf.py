"""How Sphinx makes the site. `tools.site.build` runs it."""

import incumbent

project = "Incumbent"
release = version = incumbent.__version__
project_copyright = "the Incumbent authors"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]

# Anchors are those that GitHub gives: in lower case, with dashes.
myst_heading_anchors = 4

# Colours only: the tests run what is in the blocks.
suppress_warnings = ["misc.highlighting_failure"]

# Docstrings put `code` in single backticks.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "Incumbent"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
# A reader of the site asks no other server for anything: fonts are those of the system.
_LOOKS = {"code-font-size": "78%"}
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": _LOOKS,
    "dark_css_variables": _LOOKS,
}
