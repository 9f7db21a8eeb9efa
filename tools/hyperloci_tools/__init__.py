"""The MCP tools: validate, call Memory, shape the answer."""
