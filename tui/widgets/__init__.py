"""Our widgets: each stock widget is subclassed once here, and screens use only these."""
