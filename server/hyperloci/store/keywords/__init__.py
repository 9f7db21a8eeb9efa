"""Keywords: the analysed terms of memories."""
