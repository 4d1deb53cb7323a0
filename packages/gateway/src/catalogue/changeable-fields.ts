import { accountFields, groupFields, keyFields } from './entities.ts';
import type { Fields } from './fields.ts';
import type { OwnerKind } from './limits.ts';

const { groupId: _, accountId: __, ...changeableOfKeys } = keyFields;
const { platform: ___, ...changeableOfGroups } = groupFields;

/** The fields that people, programs and commands may change of an owner. Of a group, `routingFields` as well. */
export const changeableFieldsOf = {
  account: accountFields,
  group: changeableOfGroups,
  key: changeableOfKeys,
} satisfies Readonly<Record<OwnerKind, Fields>>;
