import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';
import { startLanguage } from './app/language.ts';
import { startTheme } from './app/theme.ts';
import './app/styles.css';

startTheme();
startLanguage();
const place = document.getElementById('console');
if (place !== null)
  createRoot(place).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
