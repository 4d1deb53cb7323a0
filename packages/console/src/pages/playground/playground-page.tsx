import type { KeyChoicesView } from '@headgate/gateway/console';
import { useState } from 'react';
import { useGet } from '../../api/hooks.ts';
import { useSession } from '../../app/session.tsx';
import { useTexts } from '../../app/texts.ts';
import { ErrorState } from '../../ui/error-state.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { AsCode } from './as-code.tsx';
import { useHeldKey } from './held-key.ts';
import { LaneView } from './lane-view.tsx';
import { mistakesIn, PlaySettings, requestOf, type Settings, usualSettings } from './play-settings.tsx';
import { PlaygroundKey } from './playground-key.tsx';
import { PromptBox } from './prompt-box.tsx';
import { type PlayTurn, surfaceOf } from './surfaces.ts';
import * as texts from './texts.ts';
import { useLane } from './use-lane.ts';

/** A prompt on any surface. The page calls the API itself, with a key in this tab's memory, so it is a caller like any other. */
export function PlaygroundPage() {
  const t = useTexts(texts);
  const { apiOrigin } = useSession().deployment;
  const choices = useGet<KeyChoicesView>('/keys/choices', {}, { staleMs: 60_000 });
  const models = choices.data?.models ?? [];
  const { settings, surface, held, model, lanes, ...play } = usePlay(models[0]?.id ?? null, apiOrigin);
  const takesImages = lanes.every(({ model: asked }) =>
    models.find(({ id }) => id === asked)?.input.includes('image'),
  );
  return (
    <Page title={t('title')} description={t('description', { origin: apiOrigin })}>
      {choices.error !== null && <ErrorState error={choices.error} onRetry={() => void choices.refetch()} />}
      <PlaygroundKey platform={surface.platform} held={held} choices={choices.data} />
      <div className="grid min-w-0 grid-cols-1 gap-5 lg:grid-cols-[18rem_minmax(0,1fr)]">
        <Section>
          <PlaySettings
            settings={settings}
            model={model}
            models={models.map(({ id }) => id)}
            onChange={play.change}
          />
        </Section>
        <div className="flex min-w-0 flex-col gap-4">
          <div className="flex min-w-0 flex-col gap-4 md:flex-row">
            {lanes.map(({ lane, model: asked }, at) => (
              <LaneView key={at === 0 ? 'left' : 'right'} state={lane.state} model={asked ?? t('noModel')} />
            ))}
          </div>
          <PromptBox
            isRunning={lanes.some(({ lane }) => lane.state.isRunning)}
            mayAsk={held !== null && model !== null && mistakesIn(settings).length === 0}
            takesImages={takesImages}
            onSend={play.send}
            onStop={play.stop}
            onClear={play.clear}
          />
          <AsCode surface={surface} requests={lanes.flatMap(({ lane }) => lane.state.asked ?? [])} />
        </div>
      </div>
    </Page>
  );
}

/** The form, its lanes, and what may be done with them. */
function usePlay(usualModel: string | null, apiOrigin: string) {
  const [settings, setSettings] = useState(usualSettings);
  const [left, right] = [useLane(), useLane()];
  const surface = surfaceOf(settings.surface);
  const held = useHeldKey(surface.platform);
  const model = settings.model ?? usualModel;
  const lanes = [
    { lane: left, model },
    ...(settings.other === null ? [] : [{ lane: right, model: settings.other }]),
  ];
  const clear = () => {
    for (const { lane } of lanes) lane.clear();
  };
  return {
    ...{ settings, surface, held, model, lanes, clear },
    stop: () => {
      for (const { lane } of lanes) lane.stop();
    },
    change: (changes: Partial<Settings>) => {
      if (changes.surface !== undefined) clear();
      setSettings((before) => ({ ...before, ...changes }));
    },
    send: (turn: PlayTurn) => {
      for (const { lane, model: asked } of lanes) {
        if (asked === null || held === null) continue;
        const request = requestOf(settings, asked);
        void lane.send({ apiOrigin, secret: held.secret, surface, request, turn });
      }
    },
  };
}
