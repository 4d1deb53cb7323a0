import { useState } from 'react';
import { useSession } from '../../app/session.tsx';
import { useTexts } from '../../app/texts.ts';
import { CodeTabs } from '../../ui/code.tsx';
import { Section } from '../../ui/page.tsx';
import { Segments } from '../../ui/segments.tsx';
import { curlOf, pythonOf, scriptOf } from './code-sample.ts';
import { bodyOf, type PlayRequest, type Surface } from './surfaces.ts';
import * as texts from './texts.ts';

interface AsCodeProps {
  readonly surface: Surface;
  /** The last request to each model, whole. */
  readonly requests: readonly PlayRequest[];
}

/** The last requests, to be read, and to be made again elsewhere. */
export function AsCode({ surface, requests }: AsCodeProps) {
  const t = useTexts(texts);
  const { apiOrigin } = useSession().deployment;
  const [model, setModel] = useState<string | null>(null);
  const request = requests.find((each) => each.model === model) ?? requests[0];
  if (request === undefined) return null;
  const items = [
    { label: 'curl', code: curlOf(apiOrigin, surface, request) },
    { label: 'JavaScript', code: scriptOf(apiOrigin, surface, request) },
    { label: 'Python', code: pythonOf(apiOrigin, surface, request) },
    { label: t('request'), code: JSON.stringify(bodyOf(surface, request), null, 2) },
  ];
  const models = [...new Set(requests.map((each) => each.model))];
  return (
    <Section
      title={t('asCode')}
      plain
      actions={
        models.length > 1 && (
          <Segments
            label={t('modelLabel')}
            value={request.model}
            options={models.map((id) => ({ value: id, label: id }))}
            onChange={setModel}
          />
        )
      }
    >
      <CodeTabs items={items} />
    </Section>
  );
}
