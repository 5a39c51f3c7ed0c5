"""Character classes of Hugging Face's tokenizers that differ from Unicode 16.0.0.

Punctuation is from Unicode 8, scripts from Unicode 9 and digits from Unicode 17, because each crate has its own tables.
This module has the differences from the project's table. A character added later isn't punctuation, and belongs to
every script. Cost: a few milliseconds, once per process.

Source: tokenizers 0.22.2, tested on every code point; pre_tokenizers/unicode_scripts for the scripts.
"""

from bisect import bisect_right
from functools import lru_cache

from .tables import MAX_CODE_POINT, Ranges, parse_ranges, property_ranges, unicode_table, union, without

ASCII_PUNCTUATION: Ranges = ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E))

# Punctuation of Unicode 16 that Unicode 8 doesn't have, and the two characters that are no longer punctuation. Ranges
# may include characters that aren't punctuation in any version.
_LATER_PUNCTUATION = (
    "61D 9FD-A76 C77-C84 1B4E-1B4F 1B7D-1B7F 2E43-2E5D 10D6E-10F89 113D4-1145D 11660-116B9 1183B-11FFF 12FF1-12FF2 "
    "16D6D-16FE2 1E5FF-1E95F"
)
_FORMER_PUNCTUATION = "166D 111C9"

# Digits added in Unicode 17.
_LATER_NUMBERS = "11DE0-11DE9 16FF4-16FF6"

# Characters with a script in Unicode 16 but not in Unicode 9. Ranges may include characters without a script.
_LATER_SCRIPTS = (
    "560 588 5EF 61D 7FD-7FF 860-89F 8B5 8BE-8D3 9FC-9FE A76 AFA-AFF B55 C04 C3C C5D C77 C84 CDD CF3-D00 D04 D3B-D3C "
    "D81 E86 E89 E8C E8E-E93 E98 EA0 EA8-EA9 EAC EBA ECE 170D 1715-171F 180F 1878 1ABF-1ACE 1B4C-1B4F 1B7D-1B7F "
    "1C89-1CBF 1CF7 1CFA 1DF6-1DFA 20BF-20C0 23FF 2427-2429 2B97 2BBA-2BBC 2BC9 2BD2-2BEB 2BF0-2BFF 2C2F 2C5F "
    "2E45-2E5D 2FFC-2FFF 312E-312F 31BB-31BF 31E4-31EF 32FF 4DB6-4DBF 9FD6-9FFF A7AF A7B8-A7F6 A82C A8FE-A8FF "
    "AB66-AB6B FBC2 FD40-FD4F FDCF FDFE-FDFF 1019C 1032D-1032F 10570-105F3 10780-107BA 10A34-10A35 10A48 10D00-10D8F "
    "10E80-10FF6 11070-11075 110C2-110CD 11144-11147 111CE-111CF 1123F-11241 1133B 11380-113E2 1145A 1145E-11461 "
    "116B8-116B9 116D0-116E3 1171A 11740-1183B 11900-11ABF 11B00-11BF9 11D00-11FFF 12F90-12FF2 1342F-143FA "
    "16100-16139 16A70-16AC9 16D40-16E9A 16F45-16F4F 16F7F-16F87 16FE1-16FF1 187ED-187F7 18AF3-18D08 1AFF0-1AFFE "
    "1B002-1B2FB 1CC00-1CFC3 1D1E9-1D1EA 1D2C0-1D2F3 1D372-1D378 1DF00-1DF2A 1E030-1E7FE 1E94B 1EC71-1ED3D "
    "1F10D-1F10F 1F12F 1F16C-1F16F 1F1AD 1F260-1F265 1F6D3-1F6DF 1F6F7-1F6FC 1F774-1F77F 1F7D5-1F7F0 1F8B0-1F90F "
    "1F91F 1F928-1F92F 1F931-1F932 1F93F 1F94C-1F94F 1F95F-1F97F 1F992-1F9BF 1F9C1-1FBF9 2A6D7-2A6DF 2B735-2B739 "
    "2CEB0-2EE5D 30000-323AF"
)
# Other characters whose script differs; the space belongs to every script, and the long vowel mark is Japanese.
_SCRIPTS = {0x20: "", 0x589: "Common", 0x61C: "Common", 0x953: "Devanagari", 0x954: "Devanagari", 0x30FC: "Han"}
_JAPANESE = {"Hiragana": "Han", "Katakana": "Han", "Unknown": ""}


@lru_cache(1)
def punctuation() -> Ranges:
    """Return the punctuation of `Punctuation` and `BertPreTokenizer`: Unicode 8's, plus the symbols of ASCII."""
    known = without(property_ranges("P"), parse_ranges(_LATER_PUNCTUATION))
    return union(known, parse_ranges(_FORMER_PUNCTUATION), ASCII_PUNCTUATION)


@lru_cache(1)
def numeric() -> Ranges:
    """Return the digits of `Digits`: every number of Unicode 17, including `½` and `Ⅷ`."""
    return union(property_ranges("N"), parse_ranges(_LATER_NUMBERS))


@lru_cache(1)
def _script_runs() -> tuple[list[int], list[str]]:
    runs = sorted((first, name) for name, ranges in unicode_table()[1]["sc"].items() for first, _ in ranges)
    return [first for first, _ in runs], [_JAPANESE.get(name, name) for _, name in runs]


@lru_cache(1)
def _later_scripts() -> Ranges:
    return parse_ranges(_LATER_SCRIPTS)


@lru_cache(1 << 12)
def script(char: str) -> str:
    """Return the script of a character for `UnicodeScripts`, or "" if it belongs to every script.

    >>> script("a"), script("ひ"), script("漢"), script(" ")
    ('Latin', 'Han', 'Han', '')
    """
    code_point = ord(char)
    if code_point in _SCRIPTS:
        return _SCRIPTS[code_point]
    later = _later_scripts()
    if code_point <= later[bisect_right(later, (code_point, MAX_CODE_POINT)) - 1][1] and code_point >= later[0][0]:
        return ""
    starts, names = _script_runs()
    return names[bisect_right(starts, code_point) - 1]
