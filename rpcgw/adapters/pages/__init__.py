"""Pages: templates rendered by jinja2, and the files beside them."""
