import { expect, test } from 'vitest';
import { auditedMembers } from '../../../../gateway/src/admin/audit.ts';
import { auditKinds } from './audit-kinds.ts';

test('changes are found by every kind of thing that changes are noted of', () => {
  expect(auditKinds.toSorted()).toEqual(Object.keys(auditedMembers).toSorted());
});
