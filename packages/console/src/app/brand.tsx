import icon from './icon.svg';

/** The sign of the software and the name of the deployment. */
export function Brand({ name = 'Headgate' }: { readonly name?: string }) {
  return (
    <span className="flex min-w-0 items-center gap-2 font-semibold">
      <img src={icon} alt="" width={20} height={20} />
      <span className="truncate">{name}</span>
    </span>
  );
}
