import { Fragment, type ReactNode } from 'react';

export interface Fact {
  readonly label: ReactNode;
  readonly value: ReactNode;
}

/** All that is known of one thing, by name. */
export function Facts({ items }: { readonly items: readonly Fact[] }) {
  return (
    <dl className="grid grid-cols-[minmax(6rem,max-content)_minmax(0,1fr)] gap-x-6 gap-y-1.5">
      {items.map(({ label, value }, place) => (
        <Fragment key={typeof label === 'string' ? label : place}>
          <dt className="text-soft">{label}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
