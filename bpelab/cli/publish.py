"""`bpelab publish` and `bpelab upload`: their arguments, and the functions that run them.

Nothing is written or imported before they run.
"""

import json
import shlex
from argparse import Namespace
from pathlib import Path

from .._support.textio import read_text
from ..errors import BPELabError
from .arguments import (
    CommandMaker,
    add_input_tokenizer,
    add_roles,
    add_summary_options,
    nonempty_path,
    open_input_tokenizer,
    roles,
)

EXAMPLES = """\
examples:
  bpelab publish my-tokenizer harbour --text unseen.txt
  bpelab publish my-tokenizer harbour --text unseen.txt --about about.md --upload me/harbour

OUT is a new folder with tokenizer.json, every other format that can hold the tokenizer, a README.md of measured
numbers, the text that they were measured on, and the hash of each file. Nothing leaves this machine without --upload,
which creates a private repository on the Hugging Face Hub; it needs a token with write access (`hf auth login`,
HF_TOKEN). `bpelab upload` does that for an existing folder.
"""


def add_commands(command: CommandMaker) -> None:
    """Add the two commands."""
    publish = command("publish", "write a folder to share a tokenizer: formats, card, hashes", run_publish)
    publish.epilog = EXAMPLES
    add_input_tokenizer(publish)
    publish.add_argument("out", metavar="OUT", type=nonempty_path, help="the folder to write; it must be new")
    publish.add_argument(
        "--text", type=Path, required=True, metavar="FILE", help="a UTF-8 text to measure on, not one trained on"
    )
    add_roles(publish, ", one of the tokenizer's own")
    publish.add_argument("--about", type=Path, metavar="FILE", help="Markdown that the card begins with")
    publish.add_argument("--upload", metavar="REPO", help="upload it too, to a new private repository on the Hub")
    publish.add_argument("--public", action="store_true", help="with --upload: everybody can see it")
    publish.add_argument("--update", action="store_true", help="with --upload: the repository may exist already")
    add_summary_options(publish)
    upload = command("upload", "upload a folder that `bpelab publish` wrote to the Hugging Face Hub", run_upload)
    upload.add_argument("folder", metavar="FOLDER", help="the folder, unchanged since then")
    upload.add_argument("repo", metavar="REPO", help="a new private repository: name, or organization/name")
    upload.add_argument("--public", action="store_true", help="everybody can see it")
    upload.add_argument("--update", action="store_true", help="the repository may exist already")
    upload.add_argument("--json", action="store_true", help="print the address as JSON")


def run_publish(args: Namespace) -> int:
    from ..publishing.folder import publish
    from ..publishing.hub import require_token, upload

    if args.upload is None and (args.public or args.update):
        raise BPELabError("--public and --update need --upload REPO")
    if args.upload is not None:
        require_token(args.upload)  # before there is a folder that would have to be deleted again
    text, about = read_text(args.text), "" if args.about is None else read_text(args.about)
    tokenizer = open_input_tokenizer(args).with_options(**roles(args))
    files = publish(tokenizer, args.out, text, about=about, progress=False if args.quiet else None)
    if not (args.quiet or args.json):
        for written in files:
            print(f"  {written.file}: {written if written.refused else f'left out: {written}'}")
        print(f"{args.out}: written")
    page = None
    if args.upload is not None:
        try:
            page = upload(args.out, args.upload, private=not args.public, update=args.update)
        except BPELabError as error:
            again = f"bpelab upload {shlex.join([str(args.out), args.upload])}"
            raise BPELabError(f"{error}; the folder is written: `{again}` uploads it") from error
    if args.json:
        facts = [{"file": it.file, "left_out": it.left_out, "refused": it.refused or None} for it in files]
        print(json.dumps({"out": str(args.out), "files": facts, "page": page}))
    elif page is not None:
        print(page)
    return 0


def run_upload(args: Namespace) -> int:
    from ..publishing.hub import upload

    page = upload(args.folder, args.repo, private=not args.public, update=args.update)
    print(json.dumps({"page": page}) if args.json else page)
    return 0
