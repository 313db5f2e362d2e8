"""Prints the installed sizes of packages with all packages that they require, a JSON object a line: `sizes.py NAME…`."""
import json
import os
import sys
from importlib.metadata import PackageNotFoundError, distribution

from pip._vendor.packaging.requirements import Requirement


def closure(name, found):
    """Adds a distribution and its requirements, without extras, to `found`."""
    dist = distribution(name)
    if dist.metadata["Name"] in found:
        return
    found[dist.metadata["Name"]] = dist
    for text in dist.requires or []:
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            closure(requirement.name, found)


def installed(dist):
    """Returns the sum of the sizes of a distribution's files, without compiled Python."""
    paths = (dist.locate_file(file) for file in dist.files or [] if file.suffix != ".pyc")
    return sum(os.path.getsize(path) for path in paths if os.path.exists(path))


for name in sys.argv[1:]:
    found = {}
    try:
        closure(name, found)
    except PackageNotFoundError as error:
        print(json.dumps({"name": name, "why": f"{error.name} is not installed"}))
        continue
    sizes = {name: installed(dist) for name, dist in found.items()}
    largest = sorted(sizes, key=sizes.get, reverse=True)[:4]
    print(json.dumps({"name": name, "packages": len(sizes), "bytes": sum(sizes.values()), "largest": largest}))
