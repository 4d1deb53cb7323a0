import { describe, expect, test } from 'vitest';
import { concatBytes, splice } from '../bytes/splice.ts';
import { signatureEdits } from './edits.ts';
import { carriedSignature, unsealedSignature } from './signature.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function edited(body: string): string {
  const bytes = encoder.encode(body);
  return decoder.decode(concatBytes([...splice(bytes, signatureEdits(bytes, 'here'))]));
}

const here = carriedSignature({ origin: 'here', data: 'b3du', form: 'signature' });
const there = carriedSignature({ origin: 'there', data: '??>>', form: 'signature' });
const part = (name: string, value: string) =>
  `{"contents":[{"parts":[{"text":"a", "${name}" : "${value}"}]}]}`;

describe('seals', () => {
  test.each(['thoughtSignature', 'thought_signature'])('of other protocols as %s are not sent', (name) => {
    expect(edited(part(name, there))).toBe(part(name, 'skip_thought_signature_validator'));
    expect(edited(part(name, there.replaceAll('/', '\\/')))).toBe(
      part(name, 'skip_thought_signature_validator'),
    );
  });

  test('of a call that its model has not sealed are one that this protocol takes', () => {
    expect(edited(part('thoughtSignature', unsealedSignature()))).toBe(
      part('thoughtSignature', 'skip_thought_signature_validator'),
    );
  });

  test('of this target are sent as it made them, however many there are', () => {
    const body = (own: string, other: string) =>
      `[${[own, other, own].map((value) => part('thoughtSignature', value)).join()}]`;
    expect(edited(body(here, there))).toBe(body('b3du', 'skip_thought_signature_validator'));
  });

  test.each([
    part('thoughtSignature', 'c2ln'),
    part('text', there),
    part('myThoughtSignature', there),
    `{"contents":[{"parts":["${there}", {"text":"\\"${there}"}]}]}`,
    `{"thoughtSignature":"${there}`,
  ])('are nothing else: %s', (body) => {
    expect(edited(body)).toBe(body);
  });
});
