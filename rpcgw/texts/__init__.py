"""Catalogues, language negotiation, the per-field fallback chain. Pure."""
