"""The steps of the batched trainer, as Triton compiles them for a GPU: one program walks all texts of one model.

A program's steps come one after another, as in the compiled trainer, so a seed gives the same table whatever else is
trained beside it. What keeps the memory busy is the number of models. Random numbers are those of ``shadows.walk``.
"""

import triton
import triton.language as tl

KEEP = tl.constexpr(1)
WINDOW = tl.constexpr(2)
NEGATIVE = tl.constexpr(3)


@triton.jit
def mixed(x):
    """A 32-bit hash (Ellis' lowbias32)."""
    x = x ^ (x >> 16)
    x = x * 0x7FEB352D
    x = x ^ (x >> 15)
    x = x * 0x846CA68B
    return x ^ (x >> 16)


@triton.jit
def drawn(key, place, purpose):
    """32 random bits for one purpose at one place of one pass."""
    return mixed(mixed(place.to(tl.uint32) ^ key) + purpose.to(tl.uint32) * 0x9E3779B9)


@triton.jit
def thin(
    tokens, begins, ends, origins, model_of, skip, first_row, keys,
    kept, counts, block: tl.constexpr,
):  # fmt: skip
    """Skip frequent words of one text for this pass; the others move together to the front of its place in ``kept``."""
    text = tl.program_id(0)
    model = tl.load(model_of + text)
    begin, end = tl.load(begins + text), tl.load(ends + text)
    origin = tl.load(origins + model)
    rows = skip + tl.load(first_row + model)
    key = tl.load(keys + model)
    n = 0
    for start in range(begin, end, block):
        places = start + tl.arange(0, block)
        here = places < end
        words = tl.load(tokens + places, mask=here, other=0)
        limit = tl.load(rows + words, mask=here, other=0)
        stays = here & (drawn(key, places - origin, tl.full([1], 1, tl.uint32)) <= limit)
        order = tl.cumsum(stays.to(tl.int32), axis=0)
        tl.store(kept + begin + n + order - 1, words, mask=stays)
        n += tl.sum(stays.to(tl.int32), axis=0)
    tl.store(counts + text, n)


@triton.jit
def pull(score, label, alpha):
    """The gradient of the logistic loss times the learning rate; none where the score is beyond the largest."""
    gradient = (label - 1.0 / (1.0 + tl.exp(-score))) * alpha
    return tl.where((score < 6.0) & (score > -6.0), gradient, 0.0)


@triton.jit
def walk(
    kept, counts, begins, first_text, origins, first_row, noise, keys,
    inner, outer, sizes, rate, last_rate, turn,
    passes: tl.constexpr, window: tl.constexpr, negatives: tl.constexpr, entries: tl.constexpr,
    dimension: tl.constexpr, width: tl.constexpr, slots: tl.constexpr, skip_gram: tl.constexpr,
):  # fmt: skip
    """One pass of one model over all its texts."""
    model = tl.program_id(0)
    origin = tl.load(origins + model)
    size = tl.load(sizes + model).to(tl.float32)
    key = tl.load(keys + model)
    row = tl.load(first_row + model)
    table_in, table_out = inner + row * dimension, outer + row * dimension
    drawing = noise + model.to(tl.int64) * entries
    dims = tl.arange(0, width)
    real = dims < dimension
    slot = tl.arange(0, slots)
    for text in range(tl.load(first_text + model), tl.load(first_text + model + 1)):
        begin, n = tl.load(begins + text), tl.load(counts + text)
        place_of_text = begin - origin
        alpha = rate - (rate - last_rate) * ((turn + place_of_text.to(tl.float32) / size) / passes)
        for i in range(n):
            place = place_of_text + i
            centre = tl.load(kept + begin + i)
            reach = 1 + (drawn(key, place, tl.full([], 2, tl.uint32)) % window).to(tl.int32)
            first, last = tl.maximum(0, i - reach), tl.minimum(n, i + reach + 1)
            at_centre = table_out + centre.to(tl.int64) * dimension + dims
            y = tl.load(at_centre, mask=real, other=0.0, cache_modifier=".cg")
            if skip_gram:
                for j in range(first, last):
                    if j != i:
                        purpose = 3 + (j - i + window) * negatives + slot
                        drew = drawn(key, place + slot * 0, purpose) & (entries - 1)
                        others = tl.load(drawing + drew, mask=slot < negatives, other=-1)
                        fresh = (slot < negatives) & (others != centre)
                        twice = (others[:, None] == others[None, :]) & (slot[None, :] < slot[:, None])
                        fresh = fresh & (tl.sum(twice.to(tl.int32), axis=1) == 0)
                        word = tl.load(kept + begin + j)
                        at_word = table_in + word.to(tl.int64) * dimension + dims
                        x = tl.load(at_word, mask=real, other=0.0, cache_modifier=".cg")
                        at_others = table_out + others.to(tl.int64)[:, None] * dimension + dims[None, :]
                        both = fresh[:, None] & real[None, :]
                        rows = tl.load(at_others, mask=both, other=0.0, cache_modifier=".cg")
                        g_own = pull(tl.sum(x * y, axis=0), 1.0, alpha)
                        g = tl.where(fresh, pull(tl.sum(rows * x[None, :], axis=1), 0.0, alpha), 0.0)
                        step = tl.sum(g[:, None] * rows, axis=0) + g_own * y
                        tl.store(at_others, rows + g[:, None] * x[None, :], mask=both)
                        y += g_own * x
                        tl.store(at_word, x + step, mask=real)
                        tl.debug_barrier()
            else:
                drew = drawn(key, place + slot * 0, 3 + slot) & (entries - 1)
                others = tl.load(drawing + drew, mask=slot < negatives, other=-1)
                fresh = (slot < negatives) & (others != centre)
                twice = (others[:, None] == others[None, :]) & (slot[None, :] < slot[:, None])
                fresh = fresh & (tl.sum(twice.to(tl.int32), axis=1) == 0)
                at_others = table_out + others.to(tl.int64)[:, None] * dimension + dims[None, :]
                both = fresh[:, None] & real[None, :]
                rows = tl.load(at_others, mask=both, other=0.0, cache_modifier=".cg")
                m = last - first - 1
                x = tl.zeros([width], tl.float32)
                for j in range(first, last):
                    if j != i:
                        word = tl.load(kept + begin + j)
                        at_word = table_in + word.to(tl.int64) * dimension + dims
                        x += tl.load(at_word, mask=real, other=0.0, cache_modifier=".cg")
                x = x / tl.maximum(m, 1).to(tl.float32)
                g_own = pull(tl.sum(x * y, axis=0), 1.0, alpha)
                g = tl.where(fresh, pull(tl.sum(rows * x[None, :], axis=1), 0.0, alpha), 0.0)
                step = tl.sum(g[:, None] * rows, axis=0) + g_own * y
                if m > 0:
                    tl.store(at_others, rows + g[:, None] * x[None, :], mask=both)
                    y += g_own * x
                for j in range(first, last):
                    if j != i:
                        word = tl.load(kept + begin + j)
                        at_word = table_in + word.to(tl.int64) * dimension + dims
                        held = tl.load(at_word, mask=real, other=0.0, cache_modifier=".cg")
                        tl.store(at_word, held + step, mask=real)
                        tl.debug_barrier()
            tl.store(at_centre, y, mask=real)
            tl.debug_barrier()
