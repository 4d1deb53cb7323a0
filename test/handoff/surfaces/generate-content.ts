import {
  type Ask,
  count,
  eventsOf,
  type Json,
  json,
  list,
  must,
  type Said,
  type Stop,
  type SurfaceDialogue,
  text,
} from '../dialogue.ts';

const stops: Readonly<Record<string, Stop>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'refusal',
};

export const generateContent: SurfaceDialogue = {
  id: 'generate-content',
  platform: 'native',
  endMark: 'finishReason',
  begin: ({ prompt, image }) => {
    const picture = { inlineData: { mimeType: 'image/png', data: image } };
    return [{ role: 'user', parts: [...(image === undefined ? [] : [picture]), { text: prompt }] }];
  },
  request: (model, ask, history, stream) => ({
    path: `/v1beta/models/${encodeURIComponent(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: { contents: history, ...settings(ask) },
  }),
  readWhole: (answer) => readChunks([answer]),
  readStream: (body) => readChunks(eventsOf(body).map(({ data }) => json(JSON.parse(data)))),
  goOn: (history, said, results) => [
    ...history,
    ...said.turn,
    {
      role: 'user',
      parts: said.calls.map(({ id, name }, index) => ({
        functionResponse: { id, name, response: { output: results[index] } },
      })),
    },
  ],
};

function settings({ tools, schema, reasoning, maxTokens }: Ask): Json {
  const declarations = tools?.map(({ name, parameters }) => ({ name, parametersJsonSchema: parameters }));
  return {
    ...(declarations === undefined ? {} : { tools: [{ functionDeclarations: declarations }] }),
    generationConfig: {
      ...(schema === undefined ? {} : { responseMimeType: 'application/json', responseJsonSchema: schema }),
      ...(reasoning === true ? { thinkingConfig: { includeThoughts: true, thinkingBudget: 2048 } } : {}),
      ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    },
  };
}

function readChunks(chunks: readonly Json[]): Said {
  const last = chunks.at(-1);
  const candidates = chunks.flatMap((chunk) => list(chunk['candidates']));
  const parts = candidates.flatMap((candidate) =>
    candidate['content'] === undefined ? [] : list(json(candidate['content'])['parts'] ?? []),
  );
  const finishes = candidates.flatMap((candidate) => candidate['finishReason'] ?? []);
  must(finishes.length === 1, `${finishes.length} finish reasons`);
  const [ending] = list(last?.['candidates']);
  const stop = stops[text(ending?.['finishReason'])];
  must(stop !== undefined, `unknown finish reason ${ending?.['finishReason']}`);
  const usage = json(last?.['usageMetadata']);
  const joined = (thought: boolean) =>
    parts
      .filter((part) => part['text'] !== undefined && (part['thought'] === true) === thought)
      .map((part) => text(part['text']))
      .join('');
  const calls = parts
    .flatMap((part) => (part['functionCall'] === undefined ? [] : [json(part['functionCall'])]))
    .map(({ id, name, args }) => ({ id: text(id), name: text(name), input: json(args ?? {}) }));
  return {
    text: stop === 'refusal' ? '' : joined(false),
    refusal: stop === 'refusal' ? joined(false) : '',
    reasoning: joined(true),
    calls,
    stop: calls.length > 0 && stop === 'stop' ? 'tools' : (stop ?? 'stop'),
    tokens: {
      input: count(usage['promptTokenCount']),
      output: count(usage['candidatesTokenCount'] ?? 0) + count(usage['thoughtsTokenCount'] ?? 0),
    },
    turn: [{ role: 'model', parts }],
  };
}
