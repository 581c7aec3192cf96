"""Networks in parts that stand once: tokenisers, trunks, action heads; and the policies that are made of them."""
