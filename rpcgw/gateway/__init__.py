"""The compiled thing: settings, plugins and catalogues -> one frozen Gateway, or the list of problems."""
