"""Write documents of subjects, each of several parts, below a directory: subjects.py DIRECTORY [SUBJECTS [PARTS [EACH]]].

Half of the words of a document are of its part, ten that all of the part have; half are of its subject, ten of sixty. So two of one part resemble each other by
some 0.4, two of one subject by less than 0.1, and all words of two parts of one subject together by 0.2. Words are of consonants, so that stems are the
words themselves. Document n of part p of subject s is a/s.p.n or b/s.p.n.
"""
import os
import random
import sys


def word(number):
    return "".join("bdkmqxz"[number // 7 ** i % 7] for i in range(6))


def main(directory, n_subjects=3, n_parts=3, n_each=16):
    rng = random.Random(11)
    for name in "ab":
        os.makedirs(f"{directory}/{name}", exist_ok=True)
    for subject in range(n_subjects):
        for part in range(n_parts):
            for n in range(n_each):
                of_part = [word(1000 + 100 * (subject * n_parts + part) + i) for i in range(10)]
                of_subject = rng.sample([word(20000 + 100 * subject + i) for i in range(60)], 10)
                words = 7 * (of_part + of_subject)
                rng.shuffle(words)
                with open(f"{directory}/{'ab'[n % 2]}/{subject}.{part}.{n}", "w") as file:
                    file.write(" ".join(words) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
