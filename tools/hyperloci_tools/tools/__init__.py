"""The MCP tools, one module per subject."""
