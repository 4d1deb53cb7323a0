import { stringOf } from '../json.ts';
import { simulatedModels } from '../models.ts';
import { eventStream, type LookUp, type SimulatedProtocol } from '../protocol.ts';
import { answerBody } from './answer-body.ts';
import { answerFrames } from './answer-frames.ts';
import { errorBody, errorFrame } from './error-body.ts';
import { readAsk } from './read-ask.ts';

export const chatCompletions: SimulatedProtocol = {
  id: 'chat-completions',
  requestIdHeader: 'x-request-id',
  streamType: eventStream,
  promptEndpoints: [],
  generatesAt: (path) => path === '/v1/chat/completions',
  modelOf: (_path, body) => stringOf(body['model']),
  readAsk,
  answerBody,
  answerFrames,
  errorBody,
  errorFrame,
  lookUp,
};

const listPath = '/v1/models';

function lookUp(path: string): LookUp | null {
  if (path === listPath) {
    const data = simulatedModels.map((model) => encodeModel(model.id));
    const ends = { has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
    return { ok: true, body: JSON.stringify({ object: 'list', data, ...ends }) };
  }
  return path.startsWith(`${listPath}/`)
    ? lookUpModel(decodeURIComponent(path.slice(listPath.length + 1)))
    : null;
}

function lookUpModel(id: string): LookUp {
  if (simulatedModels.some((model) => model.id === id)) {
    return { ok: true, body: JSON.stringify(encodeModel(id)) };
  }
  const message = `The model '${id}' does not exist`;
  return { ok: false, complaint: { status: 404, code: 'model_not_found', message, param: 'model' } };
}

/** The day the simulator was first listed, 2026-01-01; a constant, so that lists are the same every time. */
const listedS = 1_767_225_600;

/** The path is that of the messages protocol too, so an entry has the members of both. */
function encodeModel(id: string) {
  return {
    id,
    object: 'model',
    created: listedS,
    owned_by: 'headgate-simulator',
    type: 'model',
    display_name: id,
    created_at: new Date(listedS * 1_000).toISOString(),
  };
}
