"""Order: how hits stand as they are shown: nothing twice, what replaced one of them before it."""
