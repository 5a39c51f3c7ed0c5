"""Grapheme clusters: what a reader perceives as one character, such as a letter with its accents, or a flag.

The rules are those of UAX #29 in Unicode 16 (the crate `unicode-segmentation` in Hugging Face's tokenizers), written as
one regular expression. Python has no such function, and the `regex` package follows a newer version.

Chapter: Regex pre-tokenization. Cost: linear; the expression is compiled once, in some 20 ms.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from .tables import class_body, parse_ranges, property_ranges, union, without

_PREPEND = """
600-605 6DD 70F 890-891 8E2 D4E 110BD 110CD 111C2-111C3 113D1 1193F 11941 11A3A 11A84-11A89 11D46 11F02
"""
# Extend: the categories Mn and Me, plus these.
_OTHER_EXTEND = """
9BE 9D7 B3E B57 BBE BD7 CC0 CC2 CC7-CC8 CCA-CCB CD5-CD6 D3E D57 DCF DDF 1715 1734 1B35 1B3B 1B3D 1B43-1B44 1BAA
1BF2-1BF3 200C 302E-302F A953 A9C0 FF9E-FF9F 111C0 11235 1133E 1134D 11357 113B8 113C2 113C5 113C7-113C9 113CF 114B0
114BD 115AF 116B6 11930 1193D 11F41 16FF0-16FF1 1D165-1D166 1D16D-1D172 1F3FB-1F3FF E0020-E007F
"""
# SpacingMark: category Mc without Extend and without these, plus two vowels of Thai and Lao.
_NO_SPACING_MARK = """
102B-102C 1038 1062-1064 1067-106D 1083 1087-108C 108F 109A-109C 1A61 1A63-1A64 AA7B AA7D 11720-11721
"""
_OTHER_SPACING_MARK = "E33 EB3"
# Control: the categories Cc, Cf, Zl and Zp without Extend, Prepend and ZWJ, plus these unassigned code points.
_OTHER_CONTROL = "2065 FFF0-FFF8 E0000 E0002-E001F E0080-E00FF E01F0-E0FFF"
_PICTOGRAPHS = """
A9 AE 203C 2049 2122 2139 2194-2199 21A9-21AA 231A-231B 2328 2388 23CF 23E9-23F3 23F8-23FA 24C2 25AA-25AB 25B6 25C0
25FB-25FE 2600-2605 2607-2612 2614-2685 2690-2705 2708-2712 2714 2716 271D 2721 2728 2733-2734 2744 2747 274C 274E
2753-2755 2757 2763-2767 2795-2797 27A1 27B0 27BF 2934-2935 2B05-2B07 2B1B-2B1C 2B50 2B55 3030 303D 3297 3299
1F000-1F0FF 1F10D-1F10F 1F12F 1F16C-1F171 1F17E-1F17F 1F18E 1F191-1F19A 1F1AD-1F1E5 1F201-1F20F 1F21A 1F22F 1F232-1F23A
1F23C-1F23F 1F249-1F3FA 1F400-1F53D 1F546-1F64F 1F680-1F6FF 1F774-1F77F 1F7D5-1F7FF 1F80C-1F80F 1F848-1F84F 1F85A-1F85F
1F888-1F88F 1F8AE-1F8FF 1F90C-1F93A 1F93C-1F945 1F947-1FAFF 1FC00-1FFFD
"""
# In six scripts of India a sign joins the consonants around it.
_JOINING_SIGNS = "94D 9CD ACD B4D C4D D4D"
_CONSONANTS = """
915-939 958-95F 978-97F 995-9A8 9AA-9B0 9B2 9B6-9B9 9DC-9DD 9DF 9F0-9F1 A95-AA8 AAA-AB0 AB2-AB3 AB5-AB9 AF9 B15-B28
B2A-B30 B32-B33 B35-B39 B5C-B5D B5F B71 C15-C28 C2A-C39 C58-C5A D15-D3A
"""
_HANGUL_L, _HANGUL_V, _HANGUL_T = "1100-115F A960-A97C", "1160-11A7 D7B0-D7C6 16D63 16D67-16D6A", "11A8-11FF D7CB-D7FB"
_SYLLABLES = range(0xAC00, 0xD7A4)


@lru_cache(1)
def _cluster() -> re.Pattern[str]:
    def body(listed: str) -> str:
        return class_body(parse_ranges(listed))

    extend = union(property_ranges("Mn"), property_ranges("Me"), parse_ranges(_OTHER_EXTEND))
    spacing = without(property_ranges("Mc"), union(extend, parse_ranges(_NO_SPACING_MARK)))
    no_control = union(extend, parse_ranges(_PREPEND), parse_ranges("200D"))
    listed = union(*map(property_ranges, ("Cc", "Cf", "Zl", "Zp")), parse_ranges(_OTHER_CONTROL))
    control = class_body(without(listed, no_control))
    joined = without(union(extend, parse_ranges("200D")), parse_ranges("200C"))  # ZWNJ keeps consonants apart
    before_sign = class_body(without(joined, parse_ranges(_JOINING_SIGNS)))
    after = f"[{class_body(union(extend, spacing, parse_ranges(_OTHER_SPACING_MARK)))}\u200d]*"
    initial, vowel, final = (f"[{body(listed)}]" for listed in (_HANGUL_L, _HANGUL_V, _HANGUL_T))
    open_syllable = f"[{''.join(map(chr, _SYLLABLES[::28]))}]"
    syllable = f"[{chr(_SYLLABLES[0])}-{chr(_SYLLABLES[-1])}]"
    picture, consonant, sign = (f"[{body(listed)}]" for listed in (_PICTOGRAPHS, _CONSONANTS, _JOINING_SIGNS))
    cores = (
        "[\U0001f1e6-\U0001f1ff]{2}",
        f"{initial}*(?:{open_syllable}{vowel}*|{syllable}|{vowel}+){final}*",
        f"{initial}+",
        f"{final}+",
        f"{picture}(?:[{class_body(extend)}]*+\u200d{picture})*",
        f"{consonant}(?:[{before_sign}]*+{sign}[{class_body(joined)}]*+{consonant})+",
        f"[^{control}]",
    )
    return re.compile(f"\r\n|[{body(_PREPEND)}]*(?:{'|'.join(cores)}){after}|[{control}]")


def clusters(text: str) -> Iterator[str]:
    """Iterate over the grapheme clusters of `text`, in order; they concatenate to the text.

    >>> [len(cluster) for cluster in clusters("e\\u0301🇫🇷🇩🇪\\r\\n")]
    [2, 2, 2, 2]
    """
    return (match[0] for match in _cluster().finditer(text))
