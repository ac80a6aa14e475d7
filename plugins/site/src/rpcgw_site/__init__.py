"""The web site of a bicycle workshop, with tools for the visitor's agent: an example plugin of rpcgw."""

import rpcgw as rpc
from rpcgw_site.drawing import draw
from rpcgw_site.tools import PROVIDERS, Menu
from rpcgw_site.workshop import Workshop

plugin = rpc.Plugin(
    procedures=[Workshop],
    page_tools=PROVIDERS,
    page_data=[Menu],
    pages=draw(),
    translations="texts",
)
