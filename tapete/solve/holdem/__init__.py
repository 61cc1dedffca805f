"""A strategy for limit hold'em of two: hands in buckets, all betting as it is, solved by chance-sampled CFR."""
