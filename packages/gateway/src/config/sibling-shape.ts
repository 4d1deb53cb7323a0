import { fail, type Result, succeed } from '@headgate/protocols';
import { z } from 'zod';
import type { SettingForm } from './setting.ts';

const originComplaint = 'must be an origin such as https://console.example.com';

/** Another deployment that people are shown the way to. */
export const siblingShape = z.strictObject({
  name: z.string().min(1, 'must not be empty').describe('Its name, shown to people.'),
  consoleOrigin: z
    .url({ protocol: /^https?$/, error: originComplaint })
    .refine((url) => URL.parse(url)?.origin === url, originComplaint)
    .describe('Where its console is found.'),
  language: z.enum(['en', 'zh-CN']).exactOptional().describe('Its language.'),
  region: z
    .string()
    .min(1)
    .max(60)
    .exactOptional()
    .describe('Where it is, or whom it is for, in a word or two.'),
});

export type SiblingShape = z.infer<typeof siblingShape>;

const listed = z.array(siblingShape);

/** Sibling deployments: a list in a file, and the same list in JSON elsewhere. */
export function siblings(): SettingForm<readonly SiblingShape[]> {
  const accepts = 'a list of `{ name, consoleOrigin, language, region }`, in JSON where it is no file';
  return {
    ...{ defaultText: 'none', defaultValue: [], accepts, placeholder: 'JSON', isSwitch: false },
    read: (text) => readSiblings(text, accepts),
  };
}

function readSiblings(text: string, accepts: string): Result<readonly SiblingShape[], string> {
  let plain: unknown;
  try {
    plain = JSON.parse(text);
  } catch {
    return fail(`is not ${accepts}`);
  }
  const read = listed.safeParse(plain);
  if (read.success) return succeed(read.data);
  const [issue] = read.error.issues;
  return fail(`is not ${accepts}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim());
}
