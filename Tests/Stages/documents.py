"""Markdown as the stage `documents` reads it: fences with the marks above them, links, headings. Standard library only.

Marks are comments on the line right above a fence, so that readers do not see them:

    <!-- not run: REASON -->     this block of shell is not run, and why
    <!-- fails: REASON -->       a command of this block ends with another code than 0, as it should
    <!-- starts the server -->   this block starts a server in place of the one before, and stays; what follows talks to it
    <!-- file: NAME -->          the text is written into the working folder under this name
    <!-- output -->              what the block of shell before it prints; … stands for anything, alone on a line for any lines
"""

import os
import re

SKIPPED = {".build", ".git", ".swiftpm", "node_modules", "__pycache__"}
MARK = re.compile(r"^\s*<!-- (not run|fails|starts the server|file|output)(?:: (.*?))? -->$")
FENCE = re.compile(r"^(\s*)(```+)(\S*)\s*$")
LINK = re.compile(r"\]\(([^)\s]+)\)")


class Block:
    """A fence: its language, text and first line's number, and the mark above it with what stands in it."""

    def __init__(self, language, text, line, mark, words):
        self.language, self.text, self.line, self.mark, self.words = language, text, line, mark, words


class Document:
    """A Markdown file of the repository."""

    def __init__(self, root, path):
        self.path = path
        self.folder = os.path.dirname(path)
        with open(os.path.join(root, path), encoding="utf-8") as file:
            self.lines = file.read().split("\n")
        self.blocks, self.prose = self._split()

    @property
    def is_docc(self):
        return ".docc/" in self.path

    def _split(self):
        """The fences, and the lines outside of them with their numbers."""
        blocks, prose, fence, above = [], [], None, None
        for number, line in enumerate(self.lines, 1):
            found = FENCE.match(line)
            if fence is None and found:
                fence = (found.group(1), found.group(2), found.group(3), number, [], above)
            elif fence is not None and found and found.group(2) == fence[1] and not found.group(3):
                mark = MARK.match(fence[5] or "")
                indent = len(fence[0])
                text = "".join(part[indent:] + "\n" for part in fence[4])
                blocks.append(Block(fence[2], text, fence[3], mark and mark.group(1), mark and mark.group(2)))
                fence = None
            elif fence is not None:
                fence[4].append(line)
            else:
                prose.append((number, line))
            above = line
        if fence is not None:
            raise ValueError(f"{self.path}:{fence[3]}: the fence is not closed")
        return blocks, prose

    def anchors(self):
        """The anchors of its headings, as GitHub makes them."""
        seen, found = {}, set()
        for _, line in self.prose:
            heading = re.match(r"#{1,6} (.*)", line)
            if not heading:
                continue
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1).strip())
            slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            count = seen.get(slug, 0)
            seen[slug] = count + 1
            found.add(f"{slug}-{count}" if count else slug)
        return found

    def links(self):
        """The targets of its links with their lines; a link's text may go over two lines."""
        text = "\n".join(line for _, line in self.prose)
        for found in LINK.finditer(text):
            yield self.prose[text.count("\n", 0, found.end())][0], found.group(1)

    def pages(self):
        """The DocC pages that it names: <doc:Page>."""
        for number, line in self.prose:
            for name in re.findall(r"<doc:([^>#]+)", line):
                yield number, name


def documents(root):
    """Every Markdown file of the repository, sorted."""
    found = []
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if name not in SKIPPED and not name.startswith(".build"))
        for name in sorted(files):
            if name.endswith(".md"):
                found.append(Document(root, os.path.relpath(os.path.join(folder, name), root)))
    return found


def broken_links(root, all_documents):
    """What relative links and anchors lead nowhere, as `FILE:LINE: what`; and how many were looked at."""
    by_path = {document.path: document for document in all_documents}
    found, count = [], 0
    for document in all_documents:
        for line, target in document.links():
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            count += 1
            path, _, anchor = target.partition("#")
            full = os.path.normpath(os.path.join(document.folder, path)) if path else document.path
            if not os.path.exists(os.path.join(root, full)):
                found.append(f"{document.path}:{line}: {target} leads nowhere")
            elif anchor and full in by_path and anchor not in by_path[full].anchors():
                found.append(f"{document.path}:{line}: {full} has no heading #{anchor}")
        for line, name in document.pages():
            count += 1
            if not any(other.is_docc and other.path.endswith(f"/{name}.md") for other in all_documents):
                found.append(f"{document.path}:{line}: there is no page {name}")
    return found, count


def matches(expected, said):
    """Whether a block printed what the page shows."""
    pattern = ""
    for line in expected.rstrip("\n").split("\n"):
        if line.strip() == "…":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += "[^\\n]*".join(re.escape(part) for part in line.rstrip().split("…")) + r"[ \t]*\n"
    return re.fullmatch(pattern, said.rstrip("\n") + "\n") is not None
