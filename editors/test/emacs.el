;; Opens a file with a misspelt key in Emacs, and mends it with eglot. Run by editors/test/run.
(package-initialize)
(require 'eglot)
(require 'flymake)
(load (expand-file-name "../emacs/bindc.el" (file-name-directory load-file-name)))
(setq eglot-sync-connect 10 eglot-autoshutdown nil make-backup-files nil)

(with-temp-file "site/hiera.yaml" (insert "version: 2\n"))
(with-temp-file "site/data/common.yaml"
  (insert "ntp::server: a\nmotd: \"${lookup('ntp::servr')}\"\n"))
(defvar site (expand-file-name "site/"))
(defun project-find-site (_dir) (cons 'transient site))
(add-hook 'project-find-functions #'project-find-site)

(defun wait-for (what holds)
  "Wait until the diagnostics satisfy HOLDS."
  (let ((left 500) list)
    (while (and (> left 0)
                (not (funcall holds (setq list (mapcar #'flymake-diagnostic-text (flymake-diagnostics))))))
      (accept-process-output nil 0.02)
      (flymake-start)
      (setq left (1- left)))
    (when (= left 0) (message "FAIL emacs: waited for %s, have %S" what list) (kill-emacs 1))))

(find-file "site/data/common.yaml")
(fundamental-mode)
(bindc-mode)
(call-interactively #'eglot)
(flymake-mode 1)
(wait-for "the misspelt key"
          (lambda (list) (seq-some (lambda (text) (string-match-p "ntp::servr" text)) list)))
(goto-char (flymake-diagnostic-beg (car (flymake-diagnostics))))
(let* ((actions (eglot-code-actions (point) (point)))
       (fix (seq-find (lambda (a) (string-match-p "Replace by 'ntp::server'" (plist-get a :title))) actions)))
  (unless fix (message "FAIL emacs: no fix in %S" actions) (kill-emacs 1))
  (eglot--apply-workspace-edit (plist-get fix :edit)))
(eglot--signal-textDocument/didChange) ; eglot does this when Emacs is idle, which it never is in batch mode
(wait-for "no diagnostics" #'null)
(unless (string-match-p "lookup('ntp::server')" (buffer-string))
  (message "FAIL emacs: %s" (buffer-string)) (kill-emacs 1))
(set-buffer-modified-p nil)
(message "ok   emacs %s, eglot" emacs-version)
(kill-emacs 0)
