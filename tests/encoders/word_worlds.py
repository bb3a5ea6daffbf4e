"""A little language whose word relations are known: nouns that differ in topic and in gender alone."""

import numpy as np

#: What the tiny transformers know.
WORDS = [
    "the",
    "a",
    "cat",
    "dog",
    "sat",
    "ran",
    "on",
    "under",
    "mat",
    "house",
    "red",
    "blue",
    "big",
    "small",
    "and",
    "then",
    "slept",
]

NOUNS = {
    "royal": ("king", "queen"),
    "stage": ("actor", "actress"),
    "home": ("father", "mother"),
    "school": ("boy", "girl"),
    "church": ("monk", "nun"),
    "court": ("duke", "duchess"),
}
GENDERS = (("he", "his", "him", "himself"), ("she", "her", "hers", "herself"))
FILLERS = ("the", "a", "of", "and", "in", "was")


def topic_words(topic):
    return [f"{topic}{ending}" for ending in ("place", "thing", "work", "day", "song", "law")]


def sentences(count=3000, seed=0):
    """Texts of 9 words around one noun: words of its topic, words of its gender, fillers."""
    rng = np.random.default_rng(seed)
    topics = list(NOUNS)
    made = []
    for _ in range(count):
        topic, gender = topics[rng.integers(len(topics))], int(rng.integers(2))
        around = [*rng.choice(topic_words(topic), 3), *rng.choice(GENDERS[gender], 3), *rng.choice(FILLERS, 2)]
        rng.shuffle(around)
        made.append(" ".join([*around[:4], NOUNS[topic][gender], *around[4:]]))
    return made


def nearest(encoder, vector, without=()):
    """The word of the whole table whose direction is nearest."""
    matrix = encoder.word_matrix / np.linalg.norm(encoder.word_matrix, axis=1, keepdims=True)
    for row in np.argsort(-(matrix @ vector)):
        if encoder.vocabulary[row] not in without:
            return encoder.vocabulary[row]
    return None


def analogies_solved(encoder):
    """The share of king - queen + actress = actor and its kin that come out right over the whole table."""
    rows = {word: row for row, word in enumerate(encoder.vocabulary)}
    vectors = encoder.word_matrix / np.linalg.norm(encoder.word_matrix, axis=1, keepdims=True)
    right = asked = 0
    for a, b in NOUNS.values():
        for c, d in NOUNS.values():
            if a != c:
                found = nearest(encoder, vectors[rows[b]] - vectors[rows[a]] + vectors[rows[c]], without=(a, b, c))
                asked, right = asked + 1, right + (found == d)
    return right / asked


def topics_found(encoder):
    """The share of topic words whose nearest neighbour belongs to the same topic."""
    rows = {word: row for row, word in enumerate(encoder.vocabulary)}
    right = [
        (found in topic_words(topic) or found in NOUNS[topic])
        for topic in NOUNS
        for word in topic_words(topic)
        for found in [nearest(encoder, encoder.word_matrix[rows[word]], without=(word,))]
    ]
    return float(np.mean(right))
