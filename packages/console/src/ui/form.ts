import { type FormEvent, useState } from 'react';
import { Problem } from '../api/problem.ts';

interface FormOptions<Values, Done> {
  readonly initial: Values;
  /** Sends it; the fields that a problem names get its words. */
  readonly submit: (values: Values) => Promise<Done>;
  readonly onDone?: (done: Done) => void;
}

/** The values of a form, and what the API said of each: `<Field {...form.about('name')}><Input {...form.text('name')} /></Field>`. */
export function useForm<Values extends Readonly<Record<string, unknown>>, Done = unknown>({
  initial,
  submit,
  onDone,
}: FormOptions<Values, Done>) {
  const [values, setValues] = useState(initial);
  const [problem, setProblem] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const errors = problem instanceof Problem ? problem.errors : [];
  const set = <Name extends keyof Values>(name: Name, value: Values[Name]) =>
    setValues((before) => ({ ...before, [name]: value }));
  return {
    values,
    set,
    setValues,
    isBusy,
    /** A problem of the whole of it; null where fields say it. */
    problem:
      problem === null || (problem instanceof Problem && errors.some(({ field }) => field in values))
        ? null
        : problem,
    /** Also for members below it: `limits.concurrency` belongs to `limits`. */
    about: (name: keyof Values & string) => ({
      error: errors.find(({ field }) => field === name || field.startsWith(`${name}.`))?.message ?? null,
    }),
    text: <Name extends keyof Values & string>(name: Name) => ({
      name,
      value: String(values[name] ?? ''),
      onChange: (event: { readonly target: { readonly value: string } }) =>
        set(name, event.target.value as Values[Name]),
    }),
    submit: async (event?: FormEvent): Promise<void> => {
      event?.preventDefault();
      setBusy(true);
      setProblem(null);
      try {
        // A call that may be left out does not even work out what it would be given.
        const done = await submit(values);
        onDone?.(done);
      } catch (error) {
        setProblem(error);
      } finally {
        setBusy(false);
      }
    },
  };
}
