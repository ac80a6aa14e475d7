"""WebMCP: tools of a web page. What a page gets, which beacons and calls are taken, what is counted. Pure."""
