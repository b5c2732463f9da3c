// Free rules on the Namespace, in CEL.
import { expression, itemName } from '../common-fields.ts';
import { object, text } from '../schema/build.ts';

export const validationRule = object({
  description: 'A rule of your own on the Namespace.',
  fields: {
    name: itemName(
      'Names the rule in messages and exceptions, as validations/<name>. Unique among the validations. Example: short.',
    ),
    expression: expression(
      'CEL that must be true. It sees object, oldObject (null on CREATE) and request. Example: object.metadata.name.size() <= 40.',
    ),
    message: text({
      description: 'What a person is told when the rule is broken. Without it the expression is shown.',
      minLength: 1,
      maxLength: 1024,
    }),
    messageExpression: expression(
      "CEL that makes that text. It sees what expression sees; when it fails, message is shown. Example: 'name too long: ' + object.metadata.name.",
    ),
  },
  required: ['name', 'expression'],
});
