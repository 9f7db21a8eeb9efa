"""Packaged models: small models that wheels of the package index carry, taken out of them as data."""
