"""One async function for each kind of endpoint, Inbound -> Reply. No HTTP library."""
