/** Makes a thing once for each name: the formats of the browser take a thousand times longer to make than to use. */
export function remembered<Name extends string, Made>(make: (name: Name) => Made): (name: Name) => Made {
  const made = new Map<Name, Made>();
  return (name) => {
    const known = made.get(name);
    if (known !== undefined) return known;
    const fresh = make(name);
    made.set(name, fresh);
    return fresh;
  };
}
