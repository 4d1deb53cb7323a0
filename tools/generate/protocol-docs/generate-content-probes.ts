import {
  noThoughts,
  notReplayed,
  type ProbeSheet,
  plainSchema,
  pngBase64,
  probe,
  shownAnyway,
} from './probe.ts';

const hi = { role: 'user', parts: [{ text: 'Hello.' }] };

function says(...parts: readonly object[]) {
  return { contents: [{ role: 'user', parts: [{ text: 'Hello.' }, ...parts] }] };
}

/** A conversation in which the model says these parts before its answer. */
function thought(...parts: readonly object[]) {
  return { contents: [hi, { role: 'model', parts: [...parts, { text: 'Yes.' }] }, hi] };
}

const image = { inlineData: { mimeType: 'image/png', data: pngBase64 } };
const declaration = { name: 'weather', parametersJsonSchema: plainSchema };
const tools = { tools: [{ functionDeclarations: [declaration] }] };

function declared(rest: object) {
  return { tools: [{ functionDeclarations: [{ ...declaration, ...rest }] }] };
}

function config(generationConfig: object) {
  return { generationConfig };
}

function called(callPart: object = {}, response: object = {}) {
  return {
    contents: [
      hi,
      {
        role: 'model',
        parts: [{ functionCall: { name: 'weather', args: { city: 'canary' } }, ...callPart }],
      },
      {
        role: 'user',
        parts: [{ functionResponse: { name: 'weather', response: { output: 'Sunny.' }, ...response } }],
      },
    ],
  };
}

/** A call and its response that name each other. */
function calledWith(id: string) {
  return {
    contents: [
      hi,
      { role: 'model', parts: [{ functionCall: { id, name: 'weather', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { id, name: 'weather', response: {} } }] },
    ],
  };
}

const twoTools = { tools: [{ functionDeclarations: [declaration, { name: 'time' }] }] };

function calling(mode: string, allowedFunctionNames?: readonly string[]) {
  return {
    toolConfig: { functionCallingConfig: { mode, ...(allowedFunctionNames && { allowedFunctionNames }) } },
  };
}

/** Tools that the vendor runs itself. */
const hostedTools = [
  'googleSearch',
  'googleSearchRetrieval',
  'urlContext',
  'codeExecution',
  'computerUse',
  'googleMaps',
  'fileSearch',
  'mcpServers',
  'retrieval',
  'enterpriseWebSearch',
];

/** The members that callers of generate-content send; either spelling of a member does the same. */
export const generateContentProbes: ProbeSheet = {
  surface: 'generate-content',
  paths: ['POST /v1beta/models/{model}:generateContent', 'POST /v1beta/models/{model}:streamGenerateContent'],
  collective: ['contents[].parts[].inlineData'],
  base: { contents: [hi] },
  groups: [
    {
      heading: 'Contents',
      probes: [
        probe('systemInstruction', { systemInstruction: { parts: [{ text: 'canary' }] } }),
        probe(
          'contents[].role',
          { contents: [hi, { role: 'model', parts: [{ text: 'canary' }] }, hi] },
          { value: 'model', beside: thought() },
        ),
        probe(
          'contents[].role',
          { contents: [hi, { role: 'model', parts: [{ text: 'canary' }] }] },
          'model, last',
        ),
        probe('contents[].role', { contents: [{ parts: [{ text: 'canary' }] }] }, 'none'),
      ],
    },
    {
      heading: 'Parts',
      beside: says(),
      probes: [
        probe('text', says({ text: 'canary' })),
        probe('inlineData', says(image), 'image'),
        probe('inlineData', says({ inlineData: { mimeType: 'audio/wav', data: 'canary++' } }), 'audio'),
        probe('inlineData', says({ inlineData: { mimeType: 'application/pdf', data: 'canary++' } }), 'file'),
        probe('inlineData', says({ inlineData: { mimeType: 'video/mp4', data: 'canary++' } }), 'video'),
        probe(
          'inlineData.displayName',
          says({ inlineData: { ...image.inlineData, displayName: 'canary' } }),
          { beside: says(image) },
        ),
        probe(
          'fileData',
          says({ fileData: { mimeType: 'image/png', fileUri: 'https://example.org/canary.png' } }),
          'a URL',
        ),
        probe(
          'fileData',
          says({
            fileData: {
              mimeType: 'image/png',
              fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/canary',
            },
          }),
          "a file of the vendor's",
        ),
        probe('functionCall', called(), { value: 'with its response', beside: { ...tools, contents: [hi] } }),
        probe('functionCall.id', calledWith('canary'), { beside: { ...tools, ...calledWith('other') } }),
        probe('functionResponse.response', called({}, { response: { output: 'canary' } }), {
          value: 'output',
          beside: { ...tools, ...called({}, { response: {} }) },
        }),
        probe('functionResponse.response', called({}, { response: { error: 'canary' } }), {
          value: 'error',
          beside: { ...tools, ...called({}, { response: {} }) },
        }),
        probe('functionResponse.response', called({}, { response: { any: 'canary' } }), {
          value: 'any other',
          beside: { ...tools, ...called({}, { response: {} }) },
        }),
        probe('functionResponse.parts', called({}, { parts: [image] }), {
          beside: { ...tools, ...called() },
        }),
        probe('functionResponse.scheduling', called({}, { scheduling: 'SILENT' }), {
          beside: { ...tools, ...called() },
        }),
        probe('executableCode', thought({ executableCode: { language: 'PYTHON', code: 'canary' } }), {
          beside: thought(),
        }),
        probe(
          'codeExecutionResult',
          thought({ codeExecutionResult: { outcome: 'OUTCOME_OK', output: 'canary' } }),
          { beside: thought() },
        ),
        probe(
          'toolCall',
          thought({ toolCall: { id: 'c', toolType: 'GOOGLE_SEARCH_WEB', args: { q: 'canary' } } }),
          { beside: thought() },
        ),
        probe(
          'toolResponse',
          thought({ toolResponse: { id: 'c', toolType: 'GOOGLE_SEARCH_WEB', response: {} } }),
          { beside: thought() },
        ),
        probe('thought', thought({ text: 'canary', thought: true }), {
          beside: thought(),
          here: notReplayed,
        }),
        probe('thoughtSignature', called({ thoughtSignature: 'Y2FuYXJ5' }), {
          beside: { ...tools, ...called() },
        }),
        probe('videoMetadata', says({ ...image, videoMetadata: { fps: 1 } }), { beside: says(image) }),
        probe('mediaResolution', says({ ...image, mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' } }), {
          beside: says(image),
        }),
        probe('partMetadata', says({ text: 'So.', partMetadata: { a: 'canary' } }), {
          beside: says({ text: 'So.' }),
        }),
        probe('audioTranscription', says({ audioTranscription: { text: 'canary' } })),
      ],
    },
    {
      heading: 'Tools',
      beside: tools,
      probes: [
        probe('functionDeclarations', {
          tools: [{ functionDeclarations: [declaration, { name: 'canary' }] }],
        }),
        probe('functionDeclarations[].description', declared({ description: 'canary' })),
        probe(
          'functionDeclarations[].parameters',
          declared({
            parametersJsonSchema: undefined,
            parameters: {
              type: 'OBJECT',
              properties: { city: { type: 'STRING', nullable: true, description: 'canary' } },
            },
          }),
        ),
        probe(
          'functionDeclarations[].parametersJsonSchema',
          { tools: [{ functionDeclarations: [declaration] }] },
          { beside: { tools: [{ functionDeclarations: [{ name: 'weather' }] }] } },
        ),
        probe('functionDeclarations[].name', declared({ name: 'canary.of:mine' }), 'of other characters'),
        probe('functionDeclarations[].response', declared({ response: { type: 'STRING' } })),
        probe('functionDeclarations[].behavior', declared({ behavior: 'NON_BLOCKING' })),
        ...hostedTools.map((name) =>
          probe(`tools[].${name}`, { tools: [...tools.tools, { [name]: {} }] }, 'beside functions'),
        ),
        probe('tools[].googleSearch', { tools: [{ googleSearch: {} }] }, 'alone'),
        ...['AUTO', 'ANY', 'NONE', 'VALIDATED'].map((mode) =>
          probe('functionCallingConfig.mode', calling(mode), mode),
        ),
        probe('functionCallingConfig.allowedFunctionNames', calling('ANY', ['weather']), {
          value: 'one',
          beside: twoTools,
        }),
        probe('functionCallingConfig.allowedFunctionNames', calling('ANY', ['weather', 'time']), {
          value: 'several',
          beside: { tools: [{ functionDeclarations: [declaration, { name: 'time' }, { name: 'third' }] }] },
        }),
        probe(
          'functionCallingConfig.streamFunctionCallArguments',
          { toolConfig: { functionCallingConfig: { mode: 'AUTO', streamFunctionCallArguments: true } } },
          { beside: calling('AUTO') },
        ),
        probe('toolConfig.retrievalConfig', { toolConfig: { retrievalConfig: { languageCode: 'en' } } }),
        probe('toolConfig.includeServerSideToolInvocations', {
          toolConfig: { includeServerSideToolInvocations: true },
        }),
      ],
    },
    {
      heading: 'The answer',
      probes: [
        probe('maxOutputTokens', config({ maxOutputTokens: 500 })),
        probe('candidateCount', config({ candidateCount: 2 }), 'up to 8'),
        probe('candidateCount', config({ candidateCount: 9 }), 'over 8'),
        probe('stopSequences', config({ stopSequences: ['canary'] }), 'to 4'),
        probe('stopSequences', config({ stopSequences: ['canary', 'b', 'c', 'd', 'e'] }), '5'),
        probe('responseMimeType', config({ responseMimeType: 'application/json' }), 'application/json'),
        probe(
          'responseMimeType',
          config({ responseMimeType: 'text/x.enum', responseSchema: { type: 'STRING', enum: ['canary'] } }),
          'text/x.enum',
        ),
        probe(
          'responseSchema',
          config({
            responseMimeType: 'application/json',
            responseSchema: {
              type: 'OBJECT',
              properties: { city: { type: 'STRING', description: 'canary' } },
            },
          }),
          { beside: config({ responseMimeType: 'application/json' }) },
        ),
        probe(
          'responseJsonSchema',
          config({ responseMimeType: 'application/json', responseJsonSchema: plainSchema }),
          { beside: config({ responseMimeType: 'application/json' }) },
        ),
        probe('responseFormat', config({ responseFormat: { text: { mimeType: 'application/json' } } })),
        probe('responseModalities', config({ responseModalities: ['AUDIO'] }), 'AUDIO'),
        probe('responseModalities', config({ responseModalities: ['TEXT', 'IMAGE'] }), 'IMAGE'),
        probe('responseLogprobs', config({ responseLogprobs: true })),
        probe('logprobs', config({ responseLogprobs: true, logprobs: 3 })),
        probe('speechConfig', config({ speechConfig: { languageCode: 'en-US' } })),
        probe('imageConfig', config({ imageConfig: { aspectRatio: '1:1' } })),
        probe('audioTranscriptionConfig', config({ audioTranscriptionConfig: {} })),
      ],
    },
    {
      heading: 'Sampling and thinking',
      probes: [
        probe('temperature', config({ temperature: 0.5 }), 'to 1'),
        probe('temperature', config({ temperature: 1.5 }), 'over 1'),
        probe('topP', config({ topP: 0.9 })),
        probe('topK', config({ topK: 20 })),
        probe('seed', config({ seed: 7 })),
        probe('presencePenalty', config({ presencePenalty: 0.5 })),
        probe('frequencyPenalty', config({ frequencyPenalty: 0.5 })),
        probe('thinkingConfig.thinkingBudget', config({ thinkingConfig: { thinkingBudget: 0 } }), {
          value: '0',
          here: noThoughts,
        }),
        probe('thinkingConfig.thinkingBudget', config({ thinkingConfig: { thinkingBudget: -1 } }), {
          value: '-1',
          here: 'the model decides, as it does anyway',
        }),
        probe('thinkingConfig.thinkingBudget', config({ thinkingConfig: { thinkingBudget: 2_000 } })),
        probe('thinkingConfig.thinkingLevel', config({ thinkingConfig: { thinkingLevel: 'HIGH' } })),
        probe(
          'thinkingConfig.includeThoughts',
          config({ thinkingConfig: { thinkingLevel: 'LOW', includeThoughts: true } }),
          { here: shownAnyway, beside: config({ thinkingConfig: { thinkingLevel: 'LOW' } }) },
        ),
        probe('mediaResolution', config({ mediaResolution: 'MEDIA_RESOLUTION_LOW' }), {
          beside: says(image),
        }),
        probe('routingConfig', config({ routingConfig: { autoMode: {} } })),
        probe('modelSelectionConfig', config({ modelSelectionConfig: {} })),
        probe('audioTimestamp', config({ audioTimestamp: true })),
        probe('enableEnhancedCivicAnswers', config({ enableEnhancedCivicAnswers: true })),
      ],
    },
    {
      heading: 'Everything else',
      probes: [
        probe('safetySettings', {
          safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
        }),
        probe('cachedContent', { cachedContent: 'cachedContents/canary' }),
        ...['flex', 'priority'].map((serviceTier) => probe('serviceTier', { serviceTier }, serviceTier)),
        probe('store', { store: true }, 'true'),
        probe('continuationToken', { continuationToken: 'canary' }),
        probe('labels', { labels: { team: 'canary' } }),
        probe('modelArmorConfig', { modelArmorConfig: { promptTemplateName: 'canary' } }),
        probe('what nobody knows', { madeUp: 1 }),
      ],
    },
  ],
};
