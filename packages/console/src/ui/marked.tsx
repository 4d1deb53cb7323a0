/** A sentence with `words for machines` between backticks. */
export function Marked({ text }: { readonly text: string }) {
  return text.split('`').map((part, at) =>
    at % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: The parts of a sentence keep their places.
      <code key={at} className="font-mono text-[0.92em] break-words">
        {part}
      </code>
    ),
  );
}
