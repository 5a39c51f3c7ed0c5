// A text in the address of a page, after the # sign: the part that browsers send to no server.

const LONGEST_LINK = 6000; // characters that most programs pass on whole

// {text, with, beside} of a hash, or null if it is another one's.
function readTextLink(hash) {
  return hash.startsWith("#text=") ? Object.fromEntries(new URLSearchParams(hash.slice(1))) : null;
}

// Put these into the page's address; a Promise of a sentence about it.
async function writeTextLink(given) {
  const hash = `#${new URLSearchParams(given)}`;
  if (hash.length > LONGEST_LINK) return "The text is too long for an address.";
  history.replaceState(null, "", hash);
  const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
  return `The address of this page holds the text now${copied ? ", and is copied" : ""}. What is after # is sent to no server.`;
}
