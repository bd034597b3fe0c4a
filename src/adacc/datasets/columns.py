"""Column names of the data sets, in the order of the prepared tables."""


def names(text: str) -> tuple[str, ...]:
    """The words of a text."""
    return tuple(text.split())


ABALONE = names(
    """
    sex_F sex_I sex_M length diameter height whole_weight shucked_weight viscera_weight shell_weight
    """
)

ADULT = names(
    """
    age workclass fnlwgt education education_num marital_status occupation relationship race sex capital_gain
    capital_loss hours_per_week native_country
    """
)

BANK = names(
    """
    age job marital education default balance housing loan contact day month duration campaign pdays previous poutcome
    """
)

CAR_EVAL_34 = names(
    """
    buying_high buying_low buying_med buying_vhigh maint_high maint_low maint_med maint_vhigh doors_2 doors_3 doors_4
    doors_5more persons_2 persons_4 persons_more lug_boot_big lug_boot_med lug_boot_small safety_high safety_low
    safety_med
    """
)

COIL_2000 = names(
    """
    MOSTYPE MAANTHUI MGEMOMV MGEMLEEF MOSHOOFD MGODRK MGODPR MGODOV MGODGE MRELGE MRELSA MRELOV MFALLEEN MFGEKIND
    MFWEKIND MOPLHOOG MOPLMIDD MOPLLAAG MBERHOOG MBERZELF MBERBOER MBERMIDD MBERARBG MBERARBO MSKA MSKB1 MSKB2 MSKC MSKD
    MHHUUR MHKOOP MAUT1 MAUT2 MAUT0 MZFONDS MZPART MINKM30 MINK3045 MINK4575 MINK7512 MINK123M MINKGEM MKOOPKLA PWAPART
    PWABEDR PWALAND PPERSAUT PBESAUT PMOTSCO PVRAAUT PAANHANG PTRACTOR PWERKT PBROM PLEVEN PPERSONG PGEZONG PWAOREG
    PBRAND PZEILPL PPLEZIER PFIETS PINBOED PBYSTAND AWAPART AWABEDR AWALAND APERSAUT ABESAUT AMOTSCO AVRAAUT AAANHANG
    ATRACTOR AWERKT ABROM ALEVEN APERSONG AGEZONG AWAOREG ABRAND AZEILPL APLEZIER AFIETS AINBOED ABYSTAND
    """
)

CREDIT = names(
    """
    LIMIT_BAL SEX EDUCATION MARRIAGE AGE PAY_0 PAY_2 PAY_3 PAY_4 PAY_5 PAY_6 BILL_AMT1 BILL_AMT2 BILL_AMT3 BILL_AMT4
    BILL_AMT5 BILL_AMT6 PAY_AMT1 PAY_AMT2 PAY_AMT3 PAY_AMT4 PAY_AMT5 PAY_AMT6
    """
)

EEG_EYE = names("AF3 F7 F3 FC5 T7 P7 O1 O2 P8 T8 FC6 F4 F8 AF4")

ELECTRICITY = names("date day period nswprice nswdemand vicprice vicdemand transfer")

LETTER_IMG = names(
    """
    x_box y_box width high onpix x_bar y_bar x2bar y2bar xybar x2ybr xy2br x_ege xegvy y_ege yegvx
    """
)

SICK_EUTHYROID = names(
    """
    age sex_F sex_M on_thyroxine_f on_thyroxine_t query_on_thyroxine_f query_on_thyroxine_t on_antithyroid_medication_f
    on_antithyroid_medication_t thyroid_surgery_f thyroid_surgery_t query_hypothyroid_f query_hypothyroid_t
    query_hyperthyroid_f query_hyperthyroid_t pregnant_f pregnant_t sick_f sick_t tumor_f tumor_t lithium_f lithium_t
    goitre_f goitre_t TSH_measured_n TSH_measured_y TSH T3_measured_n T3_measured_y T3 TT4_measured_n TT4_measured_y TT4
    T4U_measured_n T4U_measured_y T4U FTI_measured_n FTI_measured_y FTI TBG_measured_n TBG_measured_y
    """
)

SKIN = names("B G R")

SPAMBASE = names(
    """
    word_freq_make word_freq_address word_freq_all word_freq_3d word_freq_our word_freq_over word_freq_remove
    word_freq_internet word_freq_order word_freq_mail word_freq_receive word_freq_will word_freq_people word_freq_report
    word_freq_addresses word_freq_free word_freq_business word_freq_email word_freq_you word_freq_credit word_freq_your
    word_freq_font word_freq_000 word_freq_money word_freq_hp word_freq_hpl word_freq_george word_freq_650 word_freq_lab
    word_freq_labs word_freq_telnet word_freq_857 word_freq_data word_freq_415 word_freq_85 word_freq_technology
    word_freq_1999 word_freq_parts word_freq_pm word_freq_direct word_freq_cs word_freq_meeting word_freq_original
    word_freq_project word_freq_re word_freq_edu word_freq_table word_freq_conference char_freq_; char_freq_(
    char_freq_[ char_freq_! char_freq_$ char_freq_# capital_run_length_average capital_run_length_longest
    capital_run_length_total
    """
)

THYROID_SICK = names(
    """
    age sex_F sex_M on_thyroxine_f on_thyroxine_t query_on_thyroxine_f query_on_thyroxine_t on_antithyroid_medication_f
    on_antithyroid_medication_t sick_f sick_t pregnant_f pregnant_t thyroid_surgery_f thyroid_surgery_t I131_treatment_f
    I131_treatment_t query_hypothyroid_f query_hypothyroid_t query_hyperthyroid_f query_hyperthyroid_t lithium_f
    lithium_t goitre_f goitre_t tumor_f tumor_t hypopituitary_f hypopituitary_t psych_f psych_t TSH_measured_f
    TSH_measured_t TSH T3_measured_f T3_measured_t T3 TT4_measured_f TT4_measured_t TT4 T4U_measured_f T4U_measured_t
    T4U FTI_measured_f FTI_measured_t FTI TBG_measured_f referral_source_other referral_source_STMW referral_source_SVHC
    referral_source_SVHD referral_source_SVI
    """
)

WILT = names("GLCM_pan Mean_Green Mean_Red Mean_NIR SD_pan")

WINE_QUALITY = names(
    """
    fixed_acidity volatile_acidity citric_acid residual_sugar chlorides free_sulfur_dioxide total_sulfur_dioxide density
    pH sulphates alcohol
    """
)
