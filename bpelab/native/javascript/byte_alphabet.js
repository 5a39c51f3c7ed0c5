// GPT-2's byte alphabet: a printable character for each byte.

const BYTE_OF_UNIT = new Int16Array(0x144).fill(-1), CHAR_OF_BYTE = [];
for (let byte = 0, next = 0x100; byte < 256; byte++) {
  const printable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad), unit = printable ? byte : next++;
  BYTE_OF_UNIT[unit] = byte;
  CHAR_OF_BYTE.push(String.fromCharCode(unit));
}

// The byte of a code unit, or -1.
export function byteOf(unit) { return unit < BYTE_OF_UNIT.length ? BYTE_OF_UNIT[unit] : -1; }

// The bytes of a text in the alphabet, or null if it has another character.
export function fromAlphabet(text) {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const byte = byteOf(text.charCodeAt(i));
    if (byte < 0) return null;
    bytes[i] = byte;
  }
  return bytes;
}

export function toAlphabet(bytes) { return Array.from(bytes, (byte) => CHAR_OF_BYTE[byte]).join(""); }
