"""WebShop: the shop's pages, its reward, and the environment over them."""
