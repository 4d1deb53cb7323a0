import { useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { chooseLanguage, languages } from '../../app/language.ts';
import { useSession } from '../../app/session.tsx';
import { useTexts } from '../../app/texts.ts';
import { chooseTheme, themes } from '../../app/theme.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Input, Select } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import * as texts from './texts.ts';

/** Name and appearance. */
export function PersonSection() {
  const t = useTexts(texts);
  const { person } = useSession();
  const queries = useQueryClient();
  const form = useForm({
    initial: { name: person.name, language: person.language ?? '', theme: person.theme ?? 'system' },
    submit: ({ name, language, theme }) =>
      api.patch('/session/person', {
        body: { name, language: language === '' ? null : language, theme: theme === 'system' ? null : theme },
      }),
    onDone: () => {
      const { language, theme } = form.values;
      if (language !== '') chooseLanguage(language === 'zh-CN' ? 'zh' : 'en');
      chooseTheme(themes.find((name) => name === theme) ?? 'system');
      toast.success(t('saved'));
      void queries.invalidateQueries({ queryKey: ['/session'] });
    },
  });
  const languageOptions = [
    { value: '', label: t('language.deployment') },
    { value: 'en', label: languages.en },
    { value: 'zh-CN', label: languages.zh },
  ];
  return (
    <Section title={t('you')} description={person.login}>
      <form onSubmit={(event) => void form.submit(event)} className="flex flex-col gap-4">
        <Field label={t('name')} {...form.about('name')}>
          <Input autoComplete="name" required {...form.text('name')} />
        </Field>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label={t('language')} {...form.about('language')}>
            <Select
              value={form.values.language}
              onChange={(value) => form.set('language', value)}
              options={languageOptions}
            />
          </Field>
          <Field label={t('theme')} {...form.about('theme')}>
            <Select
              value={form.values.theme}
              onChange={(value) => form.set('theme', value)}
              options={themes.map((name) => ({ value: name, label: t(`theme.${name}`) }))}
            />
          </Field>
        </div>
        {form.problem !== null && <Notice tone="bad">{String(form.problem)}</Notice>}
        <div>
          <Button type="submit" busy={form.isBusy}>
            {t('save')}
          </Button>
        </div>
      </form>
    </Section>
  );
}
