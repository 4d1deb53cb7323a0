import type { KeyChoicesView, KeyView, MadeKeyView } from '@headgate/gateway/console';
import { Ban, Power, PowerOff, RotateCw } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useChange } from '../../api/hooks.ts';
import { wordsOf } from '../../api/problem.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Select } from '../../ui/field.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Notice } from '../../ui/notice.tsx';
import { toast } from '../../ui/toast.tsx';
import * as texts from './texts.ts';

const MadeKey = lazy(async () => ({ default: (await import('./make-key.tsx')).MadeKey }));

interface KeyActionsProps {
  readonly keyView: KeyView;
  readonly choices: KeyChoicesView | undefined;
}

/** Everything that may be done with a key, as far as its state lets it. */
export function KeyActions({ keyView, choices }: KeyActionsProps) {
  const t = useTexts(texts);
  const { id, name, state } = keyView;
  const [asked, ask] = useState<'rotate' | 'disable' | 'revoke' | null>(null);
  const [made, setMade] = useState<MadeKeyView | null>(null);
  const invalidates = ['/keys'];
  const set = useChange<undefined>('POST', `/keys/${id}`, { invalidates });
  const turn = (verb: 'enable' | 'disable' | 'revoke') =>
    set.mutateAsync({ path: `/keys/${id}/${verb}` }).then(() => toast.success(t(`done.${verb}`, { name })));
  if (state === 'revoked') return null;
  const isOff = keyView.state === 'disabled';
  return (
    <>
      {state === 'active' && (
        <Button icon={RotateCw} onClick={() => ask('rotate')}>
          {t('rotate')}
        </Button>
      )}
      <Menu
        groups={[
          {
            items: [
              isOff
                ? { label: t('enable'), icon: Power, onSelect: () => void turn('enable').catch(toast.error) }
                : { label: t('disable'), icon: PowerOff, onSelect: () => ask('disable') },
              { label: t('revoke'), icon: Ban, danger: true, onSelect: () => ask('revoke') },
            ],
          },
        ]}
      />
      <RotateKey keyView={keyView} open={asked === 'rotate'} onClose={() => ask(null)} onMade={setMade} />
      <Confirm
        open={asked === 'disable'}
        onClose={() => ask(null)}
        title={t('disableTitle', { name })}
        description={t('disableDetail')}
        confirmLabel={t('disable')}
        onConfirm={() => turn('disable')}
      />
      <Confirm
        open={asked === 'revoke'}
        onClose={() => ask(null)}
        title={t('revokeTitle', { name })}
        description={t('revokeDetail')}
        confirmLabel={t('revoke')}
        name={name}
        danger
        onConfirm={() => turn('revoke')}
      />
      {made !== null && (
        <Suspense>
          <MadeKey made={made} choices={choices} onClose={() => setMade(null)} />
        </Suspense>
      )}
    </>
  );
}

const graces = ['0s', '1h', '24h', '168h', '720h'] as const;

interface RotateKeyProps {
  readonly keyView: KeyView;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onMade: (made: MadeKeyView) => void;
}

/** A successor with the same rights; the old key works on for a while. */
function RotateKey({ keyView: { id, name }, open, onClose, onMade }: RotateKeyProps) {
  const t = useTexts(texts);
  const [grace, setGrace] = useState<string>('24h');
  const rotate = useChange<object, MadeKeyView>('POST', `/keys/${id}/rotate`, { invalidates: ['/keys'] });
  const send = async () => {
    try {
      onMade(await rotate.mutateAsync({ body: { grace } }));
      onClose();
    } catch {
      // The mutation keeps the problem, which is shown below.
    }
  };
  const footer = (
    <>
      <Button onClick={onClose}>{t('cancel')}</Button>
      <Button variant="primary" busy={rotate.isPending} onClick={() => void send()}>
        {t('rotate')}
      </Button>
    </>
  );
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={t('rotateTitle', { name })}
      description={t('rotateDetail')}
      footer={footer}
    >
      <Field label={t('grace')} hint={t('graceHint')}>
        <Select
          value={grace}
          onChange={setGrace}
          options={graces.map((value) => ({ value, label: t(`grace.${value}`) }))}
        />
      </Field>
      {rotate.error !== null && <Notice tone="bad">{wordsOf(rotate.error)}</Notice>}
    </Dialog>
  );
}
