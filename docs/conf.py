"""The site of guides and API reference; ``make docs`` builds it."""

import etude

project, author, release = "etude", "the etude authors", etude.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
html_theme = "furo"
html_title = f"etude {release}"
highlight_language = "text"  # of blocks that do not say: commands and what they print

myst_heading_anchors = 3  # links may lead to headings, as on GitHub
suppress_warnings = ["myst.header"]  # a page may be included below another's title

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 100
