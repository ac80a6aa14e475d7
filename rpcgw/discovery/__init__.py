"""Entry points, the plugins directory, single files -> plugins. One that cannot be imported is quarantined."""
