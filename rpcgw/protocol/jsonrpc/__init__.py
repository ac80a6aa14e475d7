"""JSON-RPC 2.0 as `/rpc` speaks it: envelopes in, answers out. Pure."""

from rpcgw.protocol.jsonrpc.endpoint import UNKNOWN_VERSION, Endpoint, Limits

__all__ = ["UNKNOWN_VERSION", "Endpoint", "Limits"]
