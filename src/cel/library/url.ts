// URLs: https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-url-library
import { BOOL, listType, mapType, STRING, typeOfKind } from '../types/type.ts';
import { evaluationError } from '../values/evaluation-error.ts';
import { CelMap } from '../values/map.ts';
import { isRequestUri, parseUrl, queryOf, type Url } from '../values/url.ts';
import { defineFunction, defineMethod, type FunctionDefinition } from './define.ts';

const URL_TYPE = typeOfKind<Url>('kubernetes.URL');
const NOT_A_URL = evaluationError('the text is not an absolute URL or path');

export const urlFunctions: readonly FunctionDefinition[] = [
  defineFunction('url', [STRING], URL_TYPE, (text) => parseUrl(text) ?? NOT_A_URL),
  defineFunction('isURL', [STRING], BOOL, isRequestUri),
  defineMethod('getScheme', [URL_TYPE], STRING, ({ scheme }) => scheme),
  defineMethod('getHost', [URL_TYPE], STRING, ({ host }) => host),
  defineMethod('getHostname', [URL_TYPE], STRING, ({ hostname }) => hostname),
  defineMethod('getPort', [URL_TYPE], STRING, ({ port }) => port),
  defineMethod('getEscapedPath', [URL_TYPE], STRING, ({ escapedPath }) => escapedPath),
  defineMethod(
    'getQuery',
    [URL_TYPE],
    mapType(STRING, listType(STRING)),
    ({ query }) => new CelMap(queryOf(query)),
  ),
];
