"""The Unicode tables of Hugging Face's normalizers, whose versions differ from that of its regular expressions.

The normal forms and StripAccents use Unicode 9, the accents and control characters of BertNormalizer Unicode 8, and
lower case the newer tables of Rust. Each is listed here as its differences from the project's own table (Unicode 16)
or, for lower case, from Python's. Tests check every code point.

Chapter: Regex pre-tokenization. Cost: each table is built once, in a few milliseconds.
"""

import re
from functools import lru_cache

from .tables import Ranges, class_body, parse_ranges, property_ranges, union, without

# Marks (category M) added after Unicode 9.
_MARKS_AFTER_9 = """
7FD 897-89F 8CA-8D3 9FE AFA-AFF B55 C04 C3C CF3 D00 D3B-D3C D81 EBA ECE 1715 180F 1ABF-1ACE 1CF7 1DF6-1DFA A82C A8FF
10D24-10D27 10D69-10D6D 10EAB-10EAC 10EFC-10EFF 10F46-10F50 10F82-10F85 11070 11073-11074 110C2 11145-11146 111C9
111CE-111CF 11241 1133B 113B8-113C0 113C2 113C5 113C7-113CA 113CC-113D0 113D2 113E1-113E2 1145E 1182C-1183A 11930-11935
11937-11938 1193B-1193E 11940 11942-11943 119D1-119D7 119DA-119E0 119E4 11A01-11A0A 11A33-11A39 11A3B-11A3E 11A47
11A51-11A5B 11A8A-11A99 11D31-11D36 11D3A 11D3C-11D3D 11D3F-11D45 11D47 11D8A-11D8E 11D90-11D91 11D93-11D97 11EF3-11EF6
11F00-11F01 11F03 11F34-11F3A 11F3E-11F42 11F5A 13440 13447-13455 1611E-1612F 16F4F 16F7F-16F87 16FE4 16FF0-16FF1
1CF00-1CF2D 1CF30-1CF46 1E08F 1E130-1E136 1E2AE 1E2EC-1E2EF 1E4EC-1E4EF 1E5EE-1E5EF
"""
# Other characters added after Unicode 9 that have a normal form other than themselves, or are part of one.
_FORMS_AFTER_9 = """
32FF A7F2-A7F4 AB69 105C9 105D2 105DA 105E4 10781-10785 10787-107B0 107B2-107BA 11382-11385 1138B 1138E 11390-11391
16D63 16D67-16D6A 1CCD6-1CCF9 1E030-1E06D 1F16C 1FBF0-1FBF9
"""
_NO_MARKS_SINCE_9 = "1CF2-1CF3"
# Nonspacing marks (category Mn) that are not nonspacing marks in Unicode 8.
_NONSPACING_AFTER_8 = """
7FD 897-89F 8CA-8E1 9FE AFA-AFF B55 C04 C3C D00 D3B-D3C D81 EBA ECE 180F 1885-1886 1ABF-1ACE 1DF6-1DFB A82C A8C5 A8FF
A9BD 10D24-10D27 10D69-10D6D 10EAB-10EAC 10EFC-10EFF 10F46-10F50 10F82-10F85 11070 11073-11074 110C2 111C9 111CF 1123E
11241 1133B 113BB-113C0 113CE 113D0 113D2 113E1-113E2 11438-1143F 11442-11444 11446 1145E 1182F-11837 11839-1183A
1193B-1193C 1193E 11943 119D4-119D7 119DA-119DB 119E0 11A01-11A0A 11A33-11A38 11A3B-11A3E 11A47 11A51-11A56 11A59-11A5B
11A8A-11A96 11A98-11A99 11C30-11C36 11C38-11C3D 11C3F 11C92-11CA7 11CAA-11CB0 11CB2-11CB3 11CB5-11CB6 11D31-11D36 11D3A
11D3C-11D3D 11D3F-11D45 11D47 11D90-11D91 11D95 11D97 11EF3-11EF4 11F00-11F01 11F36-11F3A 11F40 11F42 11F5A 13440
13447-13455 1611E-16129 1612D-1612F 16F4F 16FE4 1CF00-1CF2D 1CF30-1CF46 1E000-1E006 1E008-1E018 1E01B-1E021 1E023-1E024
1E026-1E02A 1E08F 1E130-1E136 1E2AE 1E2EC-1E2EF 1E4EC-1E4EF 1E5EE-1E5EF 1E944-1E94A
"""
_SPACING_SINCE_8 = "1734 1171E"
_FORMAT_AFTER_8 = "890-891 8E2 110CD 13430-1343F"
# Capitals added after Unicode 14, the oldest version in a supported Python: first, last, distance to lower case.
_CAPITALS_AFTER_14 = (
    (0x1C89, 0x1C89, 1), (0xA7CB, 0xA7CB, 0x264 - 0xA7CB), (0xA7CC, 0xA7CC, 1), (0xA7CE, 0xA7CE, 1),
    (0xA7D2, 0xA7D2, 1), (0xA7D4, 0xA7D4, 1), (0xA7DA, 0xA7DA, 1), (0xA7DC, 0xA7DC, 0x19B - 0xA7DC),
    (0x10D50, 0x10D65, 0x20), (0x16EA0, 0x16EB8, 0x1B),
)  # fmt: skip


def one_of(ranges: Ranges) -> str:
    """Return a regular expression for one of these characters, ten times as fast as a class of several hundred ranges.

    Python looks up the first 65,536 characters in a table, but tries the ranges above one by one.
    """
    near = tuple((first, min(last, 0xFFFF)) for first, last in ranges if first <= 0xFFFF)
    far = tuple((max(first, 0x10000), last) for first, last in ranges if last > 0xFFFF)
    return f"(?:[{class_body(near)}]|(?![\\0-\\uffff])[{class_body(far)}])"


@lru_cache(1)
def assigned_after_unicode_9() -> re.Pattern[str]:
    """Return a pattern for a run of characters that Unicode 9's rules must not touch, as a group.

    Of the characters added after Unicode 9, only marks and those with a normal form matter. Code points that aren't in
    the project's table may become either in a later version.
    """
    ranges = union(parse_ranges(_MARKS_AFTER_9), parse_ranges(_FORMS_AFTER_9), property_ranges("Cn"))
    return re.compile(f"({one_of(ranges)}+)")


@lru_cache(1)
def accents() -> re.Pattern[str]:
    """Return a pattern for the characters that StripAccents removes: the marks (category M) of Unicode 9."""
    ranges = without(property_ranges("M"), parse_ranges(_MARKS_AFTER_9))
    return re.compile(one_of(union(ranges, parse_ranges(_NO_MARKS_SINCE_9))))


@lru_cache(1)
def bert_accents() -> re.Pattern[str]:
    """Return a pattern for what BertNormalizer's `strip_accents` removes: the nonspacing marks of Unicode 8."""
    ranges = without(property_ranges("Mn"), parse_ranges(_NONSPACING_AFTER_8))
    return re.compile(one_of(union(ranges, parse_ranges(_SPACING_SINCE_8))))


@lru_cache(1)
def bert_controls() -> re.Pattern[str]:
    """Return a pattern for what BertNormalizer's `clean_text` removes: control, format and private characters, U+FFFD.

    Tab, line feed and carriage return stay, since they are white space.
    """
    controls = union(*map(property_ranges, ("Cc", "Cf", "Co")), ((0xFFFD, 0xFFFD),))
    ranges = without(controls, union(parse_ranges(_FORMAT_AFTER_8), parse_ranges("9-A D")))
    return re.compile(one_of(ranges))


@lru_cache(1)
def lower_case() -> dict[int, str]:
    """Return a dict from code points to lower case, if different, as in Rust's `char::to_lowercase` (Unicode 17).

    Python's own function is right for the characters that it knows; the few newer ones are listed.
    """
    cased = union(*map(property_ranges, ("Lu", "Lt", "Nl", "So")))
    table = {code_point: chr(code_point).lower() for first, last in cased for code_point in range(first, last + 1)}
    for first, last, distance in _CAPITALS_AFTER_14:
        table |= {code_point: chr(code_point + distance) for code_point in range(first, last + 1)}
    return {code_point: lower for code_point, lower in table.items() if lower != chr(code_point)}


@lru_cache(1)
def cased() -> re.Pattern[str]:
    """Return a pattern for the characters in `lower_case`."""
    return re.compile(one_of(tuple((code_point, code_point) for code_point in sorted(lower_case()))))
